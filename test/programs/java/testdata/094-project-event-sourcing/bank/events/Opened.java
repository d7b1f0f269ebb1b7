package bank.events;

public record Opened(String account) implements Event {}
