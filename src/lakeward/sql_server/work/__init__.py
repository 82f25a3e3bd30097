"""Where questions are answered.

statement  one question, with a time limit and a way to end it
listing    what tables there are
places     how many at once, and whose turn it is
short      short questions, which do not wait behind long ones
alarms     what happens when time is up
"""
