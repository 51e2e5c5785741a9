"""Pictures, sound, video and documents."""

# ruff: noqa: E501 - one program a line, as in a table

TABLE = {
    "ffmpeg|avconv": {
        "pos": "write",
        "style": "dash",
        "risk": "caution",
        "why": "it writes media files",
        "opts": {"-i": "read", "-f": "val", "-c": "val", "-c:v": "val", "-c:a": "val", "-codec": "val", "-vf": "val", "-af": "val", "-filter_complex": "val", "-r": "val", "-s": "val", "-t": "val", "-ss": "val", "-to": "val", "-b:v": "val", "-b:a": "val", "-crf": "val", "-preset": "val", "-map": "val", "-acodec": "val", "-vcodec": "val", "-q:v": "val", "-q:a": "val", "-loglevel": "val", "-v": "val", "-threads": "val", "-metadata": "val", "-ar": "val", "-ac": "val", "-aspect": "val", "-pix_fmt": "val", "-frames:v": "val", "-vframes": "val", "-framerate": "val", "-start_number": "val", "-pass": "val", "-movflags": "val", "-g": "val", "-ab": "val", "-b": "val", "-loop": "val", "-segment_time": "val", "-safe": "val", "-tune": "val", "-profile:v": "val", "-level": "val", "-maxrate": "val", "-bufsize": "val", "-vol": "val", "-scodec": "val", "-disposition": "val", "-itsoffset": "val", "-lavfi": "val", "-hide_banner": "?val"},
        "when": [["-formats|-codecs|-encoders|-decoders|-filters|-version|-h|-protocols|-devices|-pix_fmts|-layouts|-hwaccels", {"ro": True, "risk": "safe", "pos": "text", "only": True}]],
    },
    "convert|magick|mogrify|composite|montage|gm|import|compare|conjure|display|animate|stream|gs|ghostscript|cwebp|dwebp|gif2webp|optipng|pngquant|jpegoptim|jpegtran|pngcrush|oxipng|svgo|gifsicle|rsvg-convert|inkscape|gimp|blender|povray|potrace|autotrace|exiv2|jhead|exiftool|qrencode|zbarimg|tesseract|ocrmypdf|pdftk|qpdf|mutool|pdfunite|pdfseparate|pdftotext|pdftoppm|pdftohtml|pdfimages|pdfcrop|pdfjam|ps2pdf|pdf2ps|wkhtmltopdf|wkhtmltoimage|weasyprint|libreoffice|soffice|unoconv|lowriter|abiword|antiword|catdoc|docx2txt|odt2txt|xls2csv|ssconvert|sox|lame|flac|oggenc|oggdec|opusenc|faac|mp3gain|id3v2|eyeD3|metaflac|mkvmerge|mkvextract|mp4box|MP4Box|handbrake-cli|HandBrakeCLI|mencoder|gst-launch-1.0|whisper|dot|neato|circo|twopi|fdp|plantuml|mmdc|d2|graph-easy|ditaa|sass|scss|lessc|stylus|postcss|tailwindcss|terser|uglifyjs|csso|cleancss|html-minifier|minify|imagemin|squoosh-cli|vips|vipsthumbnail|guetzli|zopfli|zopflipng|advpng|pngout|ebook-convert|calibre|calibredb|fontforge|woff2_compress|ttx|pyftsubset|figma": {
        "pos": "write",
        "risk": "caution",
        "why": "it writes converted files",
        "style": "dash",
        "opts": {"-o": "write", "--output": "write", "-d": "val", "-r": "val", "-resize": "val", "-quality": "val", "-f": "val", "-T": "val", "-s": "val", "--outdir": "write", "-sOutputFile": "write", "-K": "val", "-G": "val", "-q": "val", "-l": "val", "-w": "val", "-h": "val", "-crop": "val", "-rotate": "val", "-density": "val"},
    },
    "identify|exiftool|zbarimg|antiword|catdoc|docx2txt|odt2txt|mediainfo|ffprobe|pdfinfo|pdffonts|soxi|pdfgrep|djvused|img2txt|jp2a|chafa|viu|catimg|timg|fim|xls2csv": {
        "ro": True,
        "pos": "read",
        "style": "dash",
        "opts": {"-f": "val", "-format": "val", "-o": "write", "-v": "val", "-show_entries": "val", "-of": "val", "-print_format": "val", "-select_streams": "val", "-i": "read", "-ext": "val", "-if": "val", "-p": "val", "-w": "val"},
        "when": [["opt~^-(?:overwrite_original|all$|delete|[A-Za-z:]+$|w$|TagsFromFile|geotag)", {}], ["opt~^-(?:overwrite_original|TagsFromFile|w)", {"ro": False, "risk": "caution", "pos": "write"}]],
        "handler": "exiftool",
    },
    "dot|neato|circo|twopi|fdp": {"ro": True, "pos": "read", "opts": {"-o": "write", "-T": "val", "-K": "val", "-G": "val", "-N": "val", "-E": "val"}, "when": [["-O", {"ro": False, "fx": ["writes:."]}]]},
    "pdftotext": {"ro": True, "pos": ["read", "write"], "opts": {"-f": "val", "-l": "val", "-enc": "val"}, "style": "dash", "when": [["n<2", {"ro": False, "fx": ["writes:."]}]]},
    "gs|ghostscript": {"pos": "read", "style": "dash", "risk": "caution", "why": "it runs a program in the file", "opts": {"-o": "write", "-sOutputFile": "write", "-c": "code:postscript"}},
    "gst-launch-1.0|gimp|inkscape|blender": {"pos": "write", "risk": "caution", "why": "it runs a program with its own commands", "opts": {"-b": "code:other", "--batch": "code:other", "--python-expr": "code:python", "-P": "script", "--python": "script", "--actions": "val", "-o": "write"}},
    "arecord|rec|ffserver|simplescreenrecorder|obs|asciinema|termtosvg|ttyrec|ttyplay|script_replay|scriptreplay|peek|byzanz-record|recordmydesktop": {"pos": "write", "risk": "caution", "why": "it records", "opts": {"-c": "shell", "--command": "shell", "-d": "val", "-f": "val", "-r": "val", "-D": "val"}},
}  # fmt: skip
