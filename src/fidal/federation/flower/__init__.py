"""The federation between machines, on Flower's deployment runtime (the extra `fidal[flower]`).

coordinator:  Coordinator -> engine -> [ServerApp] -> SuperLink
site:         SuperLink -> SuperNode -> [ClientApp: shim] -> local socket -> Site

No program is sent: the ServerApp and the ClientApp are those of the installed fidal.
"""
