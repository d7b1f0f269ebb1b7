const format = (cents) => (cents / 100).toFixed(2).padStart(8);

module.exports.receipt = (cart, discounts) => {
  const lines = [...cart].map(({ name, pieces, cents }) => `${pieces} × ${name.padEnd(16)}${format(pieces * cents)}`);
  const [best, off] = Object.entries(discounts).map(([name, f]) => [name, f(cart)]).sort((a, b) => b[1] - a[1])[0];
  return [...lines, `minus ${best.padEnd(14)}${format(-off)}`, `total ${''.padEnd(14)}${format(cart.total - off)}`].join('\n');
};
