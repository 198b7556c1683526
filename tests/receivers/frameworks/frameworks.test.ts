import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describe } from '@jest/globals';
import { axum } from './axum.ts';
import { describeFrameworks } from './describe-framework.ts';
import { express } from './express.ts';
import { gin } from './gin.ts';
import { pythonFrameworks } from './python-frameworks.ts';
import { spring } from './spring.ts';

describe('Node.js', () => {
  describeFrameworks([express]);
});

describeWith(['pythonFrameworks'], (python) => describeFrameworks(pythonFrameworks(python)));

describeWith(['go', 'downloads'], (go) => describeFrameworks([gin(go)]));

describeWith(['rust', 'downloads'], (cargo) => describeFrameworks([axum(cargo)]));

describeWith(['maven', 'downloads'], (maven) => describeFrameworks([spring(maven)]));
