-- A small shop: customers and orders become enriched, windowed and tiered tables, for as long as this runs.
--
--     lakeward serve &
--     lakeward run examples/shop.sql                    -- Ctrl-C stops; the next run goes on where it was
--     lakeward tier --warehouse ./lake &                -- in another terminal: orders flow into Iceberg
--     lakeward run -e "SELECT * FROM shop.spending"     -- … and what the tables hold by now
--
-- Every statement can be run again.

CREATE CATALOG cluster WITH ('type' = 'fluss');           -- the server of `lakeward run --server`
CREATE DATABASE IF NOT EXISTS cluster.shop;
USE cluster.shop;

-- Who buys: rows by key, looked up for every order.
CREATE TABLE IF NOT EXISTS customers (
    id BIGINT,
    name STRING,
    city STRING,
    PRIMARY KEY (id) NOT ENFORCED
) WITH ('bucket.num' = '2');

INSERT INTO customers VALUES
    (1, 'Ada', 'Turin'), (2, 'Björn', 'Malmö'), (3, 'Chidi', 'Lagos'), (4, 'Dora', 'Turin'), (5, 'Emre', 'Izmir');

-- What is bought: a log, kept in the lake for good.
CREATE TABLE IF NOT EXISTS orders (
    id BIGINT,
    customer_id BIGINT,
    pieces INT,
    amount DECIMAL(10, 2),
    ordered_at TIMESTAMP(3),
    WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' SECOND
) WITH (
    'bucket.num' = '2',
    'table.datalake.enabled' = 'true',
    'table.datalake.format' = 'iceberg',
    'table.datalake.freshness' = '10 s'
);

-- A till that never closes: twenty orders a second, made up.
CREATE TEMPORARY TABLE till (
    id BIGINT,
    customer_id BIGINT,
    pieces INT,
    price DECIMAL(8, 2),
    ordered_at AS LOCALTIMESTAMP
) WITH (
    'connector' = 'datagen',
    'rows-per-second' = '20',
    'fields.id.kind' = 'sequence',
    'fields.id.start' = '1',
    'fields.id.end' = '1000000000',
    'fields.customer_id.min' = '1',
    'fields.customer_id.max' = '6',
    'fields.pieces.min' = '1',
    'fields.pieces.max' = '4',
    'fields.price.min' = '1',
    'fields.price.max' = '100'
);

INSERT INTO orders SELECT id, customer_id, pieces, pieces * price, ordered_at FROM till;

-- Every order with its customer, as known when the order came; customer 6 is nobody.
CREATE TABLE IF NOT EXISTS enriched (
    id BIGINT,
    name STRING,
    city STRING,
    amount DECIMAL(10, 2),
    ordered_at TIMESTAMP(3),
    WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' SECOND
) WITH (
    'table.datalake.enabled' = 'true',
    'table.datalake.format' = 'iceberg',
    'table.datalake.freshness' = '10 s'
);

-- What each customer has spent, at any time.
CREATE TABLE IF NOT EXISTS spending (
    customer_id BIGINT,
    orders BIGINT,
    spent DECIMAL(20, 2),
    last_order TIMESTAMP(3),
    PRIMARY KEY (customer_id) NOT ENFORCED
);

-- One job, two sinks.
EXECUTE STATEMENT SET BEGIN
    INSERT INTO enriched
    SELECT o.id, IFNULL(c.name, 'somebody'), c.city, o.amount, o.ordered_at
    FROM orders AS o
    LEFT JOIN customers FOR SYSTEM_TIME AS OF o.ordered_at AS c ON o.customer_id = c.id;

    INSERT INTO spending
    SELECT customer_id, COUNT(*), SUM(amount), MAX(ordered_at) FROM orders GROUP BY customer_id;
END;

-- Sales by city in windows of ten seconds; a late order changes its window.
CREATE TABLE IF NOT EXISTS sales (
    window_start TIMESTAMP(3),
    city STRING,
    orders BIGINT,
    revenue DECIMAL(20, 2),
    PRIMARY KEY (window_start, city) NOT ENFORCED
);

INSERT INTO sales
SELECT window_start, city, COUNT(*), SUM(amount)
FROM TABLE(TUMBLE(TABLE enriched, DESCRIPTOR(ordered_at), INTERVAL '10' SECOND))
WHERE city IS NOT NULL
GROUP BY window_start, window_end, city;

-- How many customers there are in each city, right under moves and departures: the changes of a table are counted.
CREATE TABLE IF NOT EXISTS cities (
    city STRING,
    customers BIGINT,
    first_name STRING,
    PRIMARY KEY (city) NOT ENFORCED
);

INSERT INTO cities SELECT city, COUNT(*), MIN(name) FROM customers GROUP BY city;
