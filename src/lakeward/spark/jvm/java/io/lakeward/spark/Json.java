package io.lakeward.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** JSON as calls need it. */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Json() {}

    static ObjectNode object() {
        return MAPPER.createObjectNode();
    }

    static ArrayNode texts(Iterable<String> values) {
        ArrayNode array = MAPPER.createArrayNode();
        values.forEach(array::add);
        return array;
    }

    static ArrayNode array() {
        return MAPPER.createArrayNode();
    }

    static ObjectNode of(Map<String, String> map) {
        ObjectNode node = object();
        map.forEach(node::put);
        return node;
    }

    static Map<String, String> toMap(JsonNode node) {
        Map<String, String> map = new LinkedHashMap<>();
        node.fields().forEachRemaining(field -> map.put(field.getKey(), field.getValue().asText()));
        return map;
    }

    static String[] toTexts(JsonNode node) {
        String[] texts = new String[node.size()];
        for (int i = 0; i < texts.length; i++) texts[i] = node.get(i).asText();
        return texts;
    }

    static byte[] bytes(JsonNode node) {
        try {
            return MAPPER.writeValueAsBytes(node);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    static JsonNode parse(byte[] text) {
        try {
            return MAPPER.readTree(text);
        } catch (IOException e) {
            throw new IllegalArgumentException("The Lakeward process answered with something that is not JSON.", e);
        }
    }

    static JsonNode parse(String text) {
        return parse(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
}
