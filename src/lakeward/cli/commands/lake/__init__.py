"""Tables in the lake.

tier         the tiering service, and what people say to it
tier_run     … in a terminal: signals
tier_lake    … its lake
tier_lines   … a line a round
tier_status  … how each table does
lake         looking after lake tables
catalog      an Iceberg REST catalog of them
"""
