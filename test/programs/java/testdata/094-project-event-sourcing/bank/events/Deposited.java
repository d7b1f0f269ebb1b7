package bank.events;

public record Deposited(String account, long cents) implements Event {}
