"""Defines the tasks that small networks learn: translating dates, reversing letters, repeating symbols, classifying by
evidence.
"""
