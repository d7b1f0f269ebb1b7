class Other {
    public static void main(String[] args) {
        System.out.println("another main class " + new Throwable().getStackTrace().length);
    }
}
