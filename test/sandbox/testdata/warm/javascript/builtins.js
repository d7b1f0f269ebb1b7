const fs = require('fs'), path = require('node:path'), { execFileSync } = require('child_process');
import('node:os').then((os) => console.log(typeof os.cpus, Object.keys(require.cache).map((f) => path.basename(f))));
console.log(execFileSync('/bin/sh', ['-c', 'cat; echo $0 $#', 'x'], { input: 'in' }).toString());
execFileSync('/bin/sh', ['-c', 'head -c 300000 /dev/zero | tr "\\0" x'], { stdio: 'inherit' });
console.log(fs.readdirSync('.'), module.children.length, process.stdout.writableLength, process.stdout._type);
