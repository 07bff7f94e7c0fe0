"""A lesson: what does a model read?"""
