import java.io.*;
import java.util.*;
import javax.xml.parsers.*;
import javax.xml.stream.*;
import javax.xml.xpath.*;
import org.w3c.dom.*;
import org.xml.sax.*;

/** XML by tree, by path and by stream; what is broken is refused. */
public class Xml {
    private static final String CATALOGUE = """
        <?xml version="1.0" encoding="UTF-8"?>
        <catalogue><cd id="1" land="IS"><title>Vespertine</title><price>9.90</price></cd>
        <cd id="2" land="JP"><title>千の刃 🦀</title><price>12.50</price></cd>
        <cd id="3" land="IS"><title>( ) &amp; more</title><price>8.00</price></cd></catalogue>
        """;

    public static void main(String[] args) throws Exception {
        var builder = DocumentBuilderFactory.newInstance().newDocumentBuilder();
        builder.setErrorHandler(null);
        Document document = builder.parse(new InputSource(new StringReader(CATALOGUE)));
        NodeList cds = document.getElementsByTagName("cd");
        for (int i = 0; i < cds.getLength(); i++) {
            Element cd = (Element) cds.item(i);
            System.out.println(cd.getAttribute("id") + " " + cd.getElementsByTagName("title").item(0).getTextContent());
        }
        XPath path = XPathFactory.newInstance().newXPath();
        System.out.println(path.evaluate("sum(//cd[@land='IS']/price)", document) + " " + path.evaluate("count(//cd)", document) + " " + path.evaluate("//cd[price > 10]/@id", document));
        var reader = XMLInputFactory.newInstance().createXMLStreamReader(new StringReader(CATALOGUE));
        var events = new TreeMap<String, Integer>();
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamConstants.START_ELEMENT) events.merge(reader.getLocalName(), 1, Integer::sum);
        }
        System.out.println(events);
        var out = new StringWriter();
        XMLStreamWriter writer = XMLOutputFactory.newInstance().createXMLStreamWriter(out);
        writer.writeStartElement("note");
        writer.writeAttribute("größe", "<5>");
        writer.writeCharacters("a & b 你好");
        writer.writeEndElement();
        writer.close();
        System.out.println(out);
        for (String bad : List.of("<a><b></a>", "<a x=1/>", "no xml")) {
            try {
                builder.parse(new InputSource(new StringReader(bad)));
            } catch (SAXParseException e) {
                System.out.println(bad + " is broken in line " + e.getLineNumber());
            }
        }
    }
}
