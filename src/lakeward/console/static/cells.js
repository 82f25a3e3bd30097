// Cells of rows that come as JSON: null, a text, or a pair of a short text and a longer one. All of it is text.
"use strict";
const cells = {
  element(name, className, text) {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  },
  cell(value, isNumber) {
    const td = cells.element("td", isNumber ? "num" : "");
    if (value === null) {
      td.append(cells.element("span", "null", "NULL"));
    } else if (Array.isArray(value)) {
      const details = cells.element("details", "long");
      details.append(cells.element("summary", "", value[0]), cells.element("span", "full", value[1]));
      td.append(details);
    } else {
      td.append(cells.element("span", "value", value));
    }
    return td;
  },
  head(column) {
    const th = cells.element("th", column.is_number ? "num" : "");
    th.scope = "col";
    th.append(cells.element("span", "column-name", column.name === "_change_type" ? "change" : column.name));
    th.append(cells.element("span", "column-type", column.rule ? `${column.type}, ${column.rule}` : column.type));
    return th;
  },
};
