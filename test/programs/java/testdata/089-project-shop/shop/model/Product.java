package shop.model;

public record Product(String code, String name, int cents) {}
