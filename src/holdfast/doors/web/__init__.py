"""The page's server: `app.py` puts it together and says how a module of routes is added."""
