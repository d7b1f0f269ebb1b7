// What keeps a program alive or is pending is its own, before and after its first words.
const v8 = require('v8');
const seen = () => [process.getActiveResourcesInfo(), process._getActiveHandles().length, process._getActiveRequests().length];
const before = seen();
process.on('exit', () => console.log('exit', seen()));
process.nextTick(() => console.log('tick', seen()));
setImmediate(() => console.log('immediate', seen()));
console.log(before, seen(), process.noDeprecation, Object.keys(process).includes('noDeprecation'));
console.log(v8.getHeapStatistics().heap_size_limit, process.listenerCount('warning'));
console.group('in');
console.log('a group');
console.groupEnd();
console.error('%s', 'an error', process.stdout.listenerCount('error'), process.stdout.writableLength, process.stdout._type);
