export { bars } from './bars.mjs';
export { line, sparkline } from './line.mjs';
export { pie } from './pie.mjs';
