// Keys go to the studio unless a person is typing, choosing from a list, or reading a dialog.

export function listenToKeys(target, handle) {
  target.addEventListener("keydown", (event) => {
    const field = event.target.closest?.("input, select, textarea, dialog");
    const isPress = event.target.closest?.("button") && (event.key === "Enter" || event.key === " ");
    if (field || isPress || event.defaultPrevented) return;
    if (handle(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
}
