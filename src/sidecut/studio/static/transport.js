// How requests reach the session: by the server's one address. A notebook has its own way (widget.js).

export class Refused extends Error {
  constructor(refusal) {
    super(refusal.words);
    this.contradiction = refusal.contradiction ?? null;
    this.isStale = refusal.is_stale ?? false;
    this.isLost = refusal.is_lost ?? false;
  }
}

export function serverTransport() {
  return async (verb, values = {}) => {
    let response;
    try {
      response = await fetch("api", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ do: verb, ...values }),
      });
    } catch {
      throw new Refused({ words: "The studio does not answer. Your answers so far are kept.", is_lost: true });
    }
    if (response.status === 403) {
      throw new Refused({ words: "The studio has another address now. Open the one that it printed." });
    }
    return openReply(await response.json());
  };
}

export function openReply(message) {
  if (message.error) throw new Refused(message.error);
  return message.reply;
}
