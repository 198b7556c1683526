import { prepare } from '../prepare.ts';

export default () => prepare('nginx', 'caddy');
