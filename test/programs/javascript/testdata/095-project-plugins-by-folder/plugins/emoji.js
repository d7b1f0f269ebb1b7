const TABLE = { crab: '🦀', sun: '☀️', heart: '❤️' };

module.exports = { name: 'emoji', apply: (text) => text.replace(/:(\w+):/g, (whole, name) => TABLE[name] ?? whole) };
