"""What is known of brokers, and asked of them.

client_config   `properties.*` → settings of librdkafka, never printed
library         confluent-kafka, where it is installed
kafka_errors    errors of librdkafka → sentences
topics          which are missing, and making them
cluster         what the driver asks: topics, partitions, offsets
"""
