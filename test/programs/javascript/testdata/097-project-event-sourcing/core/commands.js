const need = (state, account) => {
  if (!(account in state)) throw new Error(`no account ${account}`);
  return state[account];
};
const HANDLERS = {
  open(state, { account }) {
    if (account in state) throw new Error(`${account} exists`);
    return [{ type: 'opened', account }];
  },
  deposit: (state, { account, amount }) => (need(state, account), [{ type: 'deposited', account, amount }]),
  withdraw(state, { account, amount }) {
    if (need(state, account) < amount) throw new Error(`${account} has only ${state[account]}`);
    return [{ type: 'withdrawn', account, amount }];
  },
  transfer: (state, { from, to, amount }) => [...HANDLERS.withdraw(state, { account: from, amount }), ...HANDLERS.deposit(state, { account: to, amount })],
};

exports.handle = (state, command) => {
  if (!Object.hasOwn(HANDLERS, command.type)) throw new Error('unknown command');
  return HANDLERS[command.type](state, command);
};
