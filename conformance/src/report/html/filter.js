(function () {
  var box = document.querySelector(".filter");
  var input = box && box.querySelector("input");
  if (!input) return;
  box.hidden = false;
  var chapters = Array.prototype.slice.call(document.querySelectorAll(".all details"));
  input.addEventListener("input", function () {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    chapters.forEach(function (chapter) {
      var found = 0;
      Array.prototype.forEach.call(chapter.querySelectorAll("li"), function (row) {
        var text = row.textContent.toLowerCase();
        row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
        if (!row.hidden) found += 1;
      });
      chapter.hidden = found === 0;
      chapter.open = words.length > 0 && found > 0;
    });
  });
})();
