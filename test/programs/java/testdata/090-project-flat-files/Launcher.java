/** Several files without a package; the class with main is called Launcher. */
public class Launcher {
    public static void main(String[] args) {
        Canvas canvas = new Canvas(36, 9);
        Shape[] shapes = {new Box(1, 1, 10, 5), new Ring(22, 4, 4), new Label(3, 3, "héllo"), new Label(19, 4, "你好 🦀")};
        for (Shape shape : shapes) {
            shape.paint(canvas);
            System.out.println(shape);
        }
        System.out.print(canvas);
    }
}
