Promise.reject(new Error("nobody"));
setTimeout(() => console.log("never"), 100);
