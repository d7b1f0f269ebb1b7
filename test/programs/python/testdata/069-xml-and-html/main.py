"""XML built, searched and changed; HTML taken apart by its events."""
import html
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

CATALOGUE = """<?xml version="1.0" encoding="utf-8"?>
<catalogue xmlns:x="urn:example:extra">
  <cd id="1" country="IS"><title>Vespertine</title><artist>Björk</artist><price>9.90</price></cd>
  <cd id="2" country="JP"><title>千の刃</title><artist>久石譲</artist><price>12.50</price></cd>
  <cd id="3" country="IS"><title>( ) &amp; more</title><artist>Sigur Rós</artist><price>8.00</price><x:note>used</x:note></cd>
</catalogue>"""

root = ET.fromstring(CATALOGUE.encode())
for cd in root.iter("cd"):
    print(cd.get("id"), cd.findtext("title"), "by", cd.findtext("artist"))
print("from Iceland:", [cd.get("id") for cd in root.findall("cd[@country='IS']")])
print("sum:", sum(float(price.text) for price in root.iterfind(".//price")))
print("note:", root.find(".//{urn:example:extra}note").text)
root.remove(root.find("cd[@id='2']"))
new = ET.SubElement(root, "cd", id="4")
ET.SubElement(new, "title").text = "<Ñ> \"quoted\""
print(ET.tostring(new, encoding="unicode"))
ET.ElementTree(root).write("catalogue.xml", encoding="utf-8", xml_declaration=True)
print("on file:", len(ET.parse("catalogue.xml").getroot()), "entries")
try:
    ET.fromstring("<a><b></a>")
except ET.ParseError as error:
    print("broken:", error)


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.text, self.depth = [], [], 0

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.links.append(dict(attributes).get("href"))

    def handle_data(self, data):
        if data.strip():
            self.text.append(data.strip())


page = Links()
page.feed('<h1>T&uuml;r</h1><p>see <a href="/a?x=1&amp;y=2">here</a> or <a class=b>nowhere</a><br>&#129408;</p>')
print(page.links, page.text)
print(html.escape("<b>'fish' & \"chips\"</b>"), html.unescape("&lt;&eacute;&#x1F980;&gt;"))
