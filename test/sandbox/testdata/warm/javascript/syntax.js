console.log("never");
let x = ;
