"""A shop in several modules: models, storage, discounts, report."""
from shop.discounts import best_price
from shop.models import Cart, Product
from shop.report import receipt
from shop.storage import load, save

catalogue = [
    Product("TEA", "Grüner Tee 绿茶", 450),
    Product("CUP", "Cup ☕", 1290),
    Product("POT", "Teapot", 3999),
]
save("catalogue.json", catalogue)
products = {product.code: product for product in load("catalogue.json")}

cart = Cart()
for code, pieces in (("TEA", 4), ("CUP", 2), ("TEA", 1)):
    cart.add(products[code], pieces)
print(receipt(cart))
price, name = best_price(cart)
print(f"best offer: {name}, {price / 100:.2f}")
try:
    cart.add(products["POT"], 0)
except ValueError as error:
    print("refused:", error)
