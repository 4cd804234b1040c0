"""Charts of the page, drawn by Altair as SVG that needs neither script nor network."""
