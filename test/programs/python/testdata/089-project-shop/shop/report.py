def receipt(cart):
    lines = [f"{pieces:3} × {product.name:18} {product.cents * pieces / 100:8.2f}" for product, pieces in cart.lines.items()]
    return "\n".join(lines + ["-" * 33, f"{'total':24} {cart.total / 100:8.2f}"])
