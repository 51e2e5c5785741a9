// Before the first paint: the theme and language chosen in this browser, so that nothing flashes. A file of its own,
// because the page's policy refuses scripts written into the document.
;(function () {
  var root = document.documentElement
  try {
    var theme = localStorage.getItem('holdfast.theme')
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
    var language = localStorage.getItem('holdfast.language') || navigator.language || 'en'
    root.lang = /^zh/i.test(language) ? 'zh-CN' : 'en'
  } catch (error) {
    root.lang = 'en'
  }
})()
