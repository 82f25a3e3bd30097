"""A coordinator and its tablet servers as processes of one machine.

crew            the parent's side: starts tablet servers, and again when they end
pulse           … whether one still answers
crew_member     … one of them: its process, its ends of two connections
tablet_options  … what one is started with: the same settings, ports of its own
tablet_life     the child's side: a tablet server that ends with its parent

Two socket pairs lie between parent and child: by one the coordinator gives orders, by the other it is asked. They have
no name, so nobody else can come in by them, and they break when either side dies.
"""
