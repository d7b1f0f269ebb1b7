from .models import Cart


def none(cart: Cart) -> int:
    return cart.total


def ten_percent_over_forty(cart: Cart) -> int:
    return cart.total * 9 // 10 if cart.total > 4000 else cart.total


def fifth_free(cart: Cart) -> int:
    return cart.total - sum(product.cents * (pieces // 5) for product, pieces in cart.lines.items())


def best_price(cart):
    offers = (none, ten_percent_over_forty, fifth_free)
    return min((offer(cart), offer.__name__) for offer in offers)
