package bank.events;

public record Withdrawn(String account, long cents) implements Event {}
