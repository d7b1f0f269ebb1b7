exports.quantity = (cart) => [...cart].reduce((off, { pieces, cents }) => off + Math.floor(pieces / 4) * cents, 0);
exports.percent = (cart) => (cart.total > 4000 ? Math.round(cart.total * 0.1) : 0);
