// Accounts as a stream of events: commands, projections, snapshots in a file, replay.
const fs = require('node:fs');
const { Store } = require('./core/store');
const { handle } = require('./core/commands');
const balances = require('./projections/balances');
const history = require('./projections/history');

const store = new Store('events.jsonl');
const commands = JSON.parse(fs.readFileSync(`${__dirname}/commands.json`, 'utf8'));
for (const command of commands) {
  try {
    const events = handle(store.project(balances), command);
    store.append(...events);
    console.log('ok ', command.type, events.map((e) => e.type).join('+'));
  } catch (error) {
    console.log('no ', command.type, '-', error.message);
  }
}
console.log(store.project(balances));
console.log(store.project(history).join('\n'));
const again = new Store('events.jsonl');
console.log('replayed the same:', JSON.stringify(again.project(balances)) === JSON.stringify(store.project(balances)), again.length);
console.log('at event 3:', again.project(balances, 3));
