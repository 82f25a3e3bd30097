"""Where questions are answered.

statement  one question, with a time limit and a way to end it
listing    what tables there are
places     how many at once, and whose turn it is
ahead      rows that are made while others are sent
short      short questions, which do not wait behind long ones
alarms     what happens when time is up
"""
