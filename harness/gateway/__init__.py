"""The one way from a solver's container to its model: metered, held to a policy and a budget, and written down.

``client`` is what a run uses of it; docs/gateway.md says what each module is.
"""
