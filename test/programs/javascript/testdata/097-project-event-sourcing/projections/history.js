const line = (sign) => (lines, { n, account, amount = '' }) => [...lines, `${String(n).padStart(2)} ${account} ${sign}${amount}`];

module.exports = { initial: () => [], apply: { opened: line('*'), deposited: line('+'), withdrawn: line('-') } };
