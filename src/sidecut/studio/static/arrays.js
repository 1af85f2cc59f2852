// Numbers of messages: base64 to typed arrays and back.

const KINDS = { f4: Float32Array, u1: Uint8Array, u2: Uint16Array };

export function unpackNumbers(message) {
  const text = atob(message.data);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k += 1) bytes[k] = text.charCodeAt(k);
  return new KINDS[message.kind](bytes.buffer);
}

export function packBytes(bytes) {
  let text = "";
  for (let k = 0; k < bytes.length; k += 8192) text += String.fromCharCode(...bytes.subarray(k, k + 8192));
  return { kind: "u1", data: btoa(text) };
}

export function saveFile(file) {
  const text = atob(file.data);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes], { type: file.type }));
  link.download = file.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
