// A shop of CommonJS modules with JSON data beside it.
const { Cart } = require('./lib/cart');
const catalogue = require('./data/catalogue.json');
const { receipt } = require('./lib/receipt');
const discounts = require('./lib/discounts');

const cart = new Cart(catalogue);
cart.add('tea', 3).add('cup', 2).add('tea');
console.log(receipt(cart, discounts));
for (const [code, pieces] of [['pot', 1], ['cup', -1]]) {
  try {
    cart.add(code, pieces);
  } catch (error) {
    console.log(`${error.name}: ${error.message}`);
  }
}
console.log(require('./lib/cart') === require('./lib/cart.js'), require.resolve('./data/catalogue').endsWith('catalogue.json'));
console.log(Object.keys(require('./lib')), module.children.length > 3, require.main === module);
