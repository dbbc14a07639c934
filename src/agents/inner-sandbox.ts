/** For the record: what became of a program's own sandbox. */
export const SANDBOX_OFF =
  "off on purpose: the container is the sandbox, and a second one inside would need rights that it does not give";
