exports.name = 'quotes';
exports.after = ['emoji'];
exports.apply = (text) => text.replace(/"([^"]*)"/g, '„$1“').replace(/ - /g, ' – ');
