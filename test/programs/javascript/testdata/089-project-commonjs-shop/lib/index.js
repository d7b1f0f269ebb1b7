module.exports = { ...require('./cart'), ...require('./receipt') };
