import java.time.*;
import java.time.format.*;
import java.time.temporal.*;
import java.util.*;
import java.util.stream.*;

/** java.time: periods, adjusters, zones, parsing, a calendar sheet. */
public class Dates {
    static void month(YearMonth month) {
        System.out.println(month + "\nMo Tu We Th Fr Sa Su");
        var line = new StringBuilder("   ".repeat(month.atDay(1).getDayOfWeek().getValue() - 1));
        for (int day = 1; day <= month.lengthOfMonth(); day++) {
            line.append(String.format("%2d", day)).append(month.atDay(day).getDayOfWeek() == DayOfWeek.SUNDAY ? "\n" : " ");
        }
        System.out.println(line.toString().stripTrailing());
    }

    public static void main(String[] args) {
        month(YearMonth.of(2024, 2));
        LocalDate leap = LocalDate.of(2024, 2, 29);
        System.out.println(leap.plusYears(1) + " " + leap.minusMonths(12) + " " + leap.with(TemporalAdjusters.lastDayOfYear()) + " " + leap.with(TemporalAdjusters.next(DayOfWeek.FRIDAY)));
        System.out.println(Period.between(LocalDate.of(1969, 7, 20), leap) + " " + ChronoUnit.DAYS.between(LocalDate.EPOCH, leap) + " " + leap.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR) + " " + leap.getDayOfYear());
        Duration d = Duration.ofSeconds(90_061, 500_000_000);
        System.out.println(d + " = " + d.toDaysPart() + "d " + d.toHoursPart() + "h " + d.toMinutesPart() + "m " + d.toSecondsPart() + "s");
        ZonedDateTime start = ZonedDateTime.of(2024, 3, 31, 1, 30, 0, 0, ZoneId.of("Europe/Berlin"));
        System.out.println(start + " + 1 h = " + start.plusHours(1) + ", + 1 d = " + start.plusDays(1));
        System.out.println(Instant.ofEpochSecond(1_700_000_000L) + " " + ZoneId.systemDefault() + " " + Instant.parse("2024-01-01T00:00:00Z").atZone(ZoneId.of("Asia/Tokyo")).toLocalDateTime());
        System.out.println(LocalDateTime.parse("05.03.2024 14:07", DateTimeFormatter.ofPattern("dd.MM.yyyy HH:mm")).format(DateTimeFormatter.ISO_DATE_TIME));
        System.out.println("Friday 13th: " + IntStream.range(0, 36).mapToObj(i -> LocalDate.of(2024, 1, 13).plusMonths(i)).filter(x -> x.getDayOfWeek() == DayOfWeek.FRIDAY).toList());
        for (String bad : List.of("2023-02-29", "24-1-1", "2024-13-01")) {
            try {
                System.out.println(LocalDate.parse(bad));
            } catch (DateTimeParseException e) {
                System.out.println("not a date: " + e.getParsedString());
            }
        }
    }
}
