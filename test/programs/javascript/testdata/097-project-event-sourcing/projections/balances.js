const add = (state, account, amount) => ({ ...state, [account]: (state[account] ?? 0) + amount });

module.exports = {
  initial: () => ({}),
  apply: {
    opened: (state, { account }) => add(state, account, 0),
    deposited: (state, { account, amount }) => add(state, account, amount),
    withdrawn: (state, { account, amount }) => add(state, account, -amount),
  },
};
