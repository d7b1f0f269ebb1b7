public class Main {
    public static void main(String[] args) {
        System.err.println("said");
        System.exit(7);
    }
}
