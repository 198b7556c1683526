import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import type { Framework } from './framework.ts';

/** Beside the snippet: the verifier of the example receiver, on each signature alone. */
const head = `
import os, sys
sys.path.insert(0, ${JSON.stringify(join(projectFolder, 'examples/receivers/python'))})
from signature import is_signed
port = int(os.environ["PORT"])
secrets = os.environ["WEBHOOK_SECRET"].split(",")
def status(headers, raw_body):
    given = {name.lower(): value for name, value in headers.items()}
    of_body = {"x-service-signature": given.pop("x-service-signature", "")}
    return 204 if is_signed(given, raw_body, secrets) and is_signed(of_body, raw_body, secrets) else 401
`;

export function pythonFrameworks(python: string): Framework[] {
  const prepare = async () => ({ command: python, args: ['-B', 'program.py'] });
  return programs.map((program) => ({ ...program, file: 'program.py', prepare }));
}

const programs: Omit<Framework, 'file' | 'prepare'>[] = [
  {
    name: 'FastAPI',
    slash: { tooMany: 307, tooFew: 307 },
    complete: (snippet) => `${head}
import uvicorn
from fastapi import FastAPI, Request, Response
app = FastAPI()
${snippet}    return Response(status_code=status(request.headers, raw_body))
@app.post("/slash/")
async def slash():
    return Response(status_code=204)
uvicorn.run(app, port=port)
`,
  },
  {
    name: 'Flask',
    slash: { tooMany: 404, tooFew: 308 },
    complete: (snippet) => `${head}
from flask import Flask, request
app = Flask(__name__)
${snippet}    return "", status(request.headers, raw_body)
@app.post("/slash/")
def slash():
    return "", 204
app.run(port=port)
`,
  },
  {
    name: 'Django',
    slash: { tooMany: 404, tooFew: 301 },
    complete: (snippet) => `${head}
from django.conf import settings
middleware = ["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=middleware, SECRET_KEY="of this test")
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from wsgiref.simple_server import make_server
${snippet}    return HttpResponse(status=status(request.headers, raw_body))
urlpatterns = [path("webhooks", receive), path("slash/", receive)]
make_server("127.0.0.1", port, get_wsgi_application()).serve_forever()
`,
  },
];
